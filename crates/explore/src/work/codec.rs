//! Bytes that stand for work and results: numbers of variable length, and a checksum at the end.
//!
//! What is read may come from anywhere. Nothing is allocated that the input does not have the bytes for, and every mistake is a
//! [`DecodeError`].

use sha2::{Digest, Sha256};
use std::fmt;

/// Bytes of a checksum.
pub(crate) const CHECKSUM: usize = 16;

/// Most steps of a path.
pub(crate) const LONGEST: usize = 1 << 22;

/// Why bytes are no work item, result or checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Not what was asked for at all.
    Foreign,
    /// Written in another version of the format.
    Version(u64),
    /// They end too early, or go on after the end.
    Length,
    /// The checksum does not fit: some byte was altered.
    Checksum,
    /// Of another program, model, set of options or build.
    OtherRun,
    /// A number that cannot stand there.
    Value,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Foreign => f.write_str("it is something else"),
            DecodeError::Version(version) => {
                write!(f, "it is written in version {version} of the format")
            }
            DecodeError::Length => f.write_str("it is truncated, or has bytes after its end"),
            DecodeError::Checksum => f.write_str("it is damaged: the checksum does not fit"),
            DecodeError::OtherRun => {
                f.write_str("it was written for another program, model or options, or by another build")
            }
            DecodeError::Value => f.write_str("it is damaged: it has a number that cannot be there"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Writes bytes.
#[derive(Default)]
pub(crate) struct Writer(pub Vec<u8>);

impl Writer {
    /// Begins with what it is.
    pub fn new(magic: &[u8; 4], version: u64) -> Writer {
        let mut writer = Writer(magic.to_vec());
        writer.number(version);
        writer
    }

    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Steps of a path: most are the same as the one before.
    pub fn path(&mut self, path: &[u32]) {
        self.number(path.len() as u64);
        for run in path.chunk_by(|a, b| a == b) {
            let number = u64::from(run[0]);
            match run.len() {
                1 => self.number(number << 1),
                length => {
                    self.number(number << 1 | 1);
                    self.number(length as u64);
                }
            }
        }
    }

    /// Ends with a checksum.
    pub fn finish(mut self) -> Vec<u8> {
        let sum = Sha256::digest(&self.0);
        self.0.extend_from_slice(&sum[..CHECKSUM]);
        self.0
    }
}

/// Reads bytes.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Looks at what it is and at the checksum first.
    pub fn new(bytes: &'a [u8], magic: &[u8; 4], version: u64) -> Result<Reader<'a>, DecodeError> {
        let rest = bytes.strip_prefix(magic).ok_or(DecodeError::Foreign)?;
        let body = bytes.len().checked_sub(CHECKSUM).filter(|&body| body > magic.len());
        let (content, sum) = bytes.split_at(body.ok_or(DecodeError::Length)?);
        let written = Reader(rest).number()?;
        if written != version {
            return Err(DecodeError::Version(written));
        }
        if Sha256::digest(content)[..CHECKSUM] != *sum {
            return Err(DecodeError::Checksum);
        }
        let mut reader = Reader(&content[magic.len()..]);
        reader.number()?;
        Ok(reader)
    }

    pub fn number(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(DecodeError::Length)?;
            self.0 = rest;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return Err(DecodeError::Value);
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(DecodeError::Value)
    }

    pub fn small<T: TryFrom<u64>>(&mut self) -> Result<T, DecodeError> {
        T::try_from(self.number()?).map_err(|_| DecodeError::Value)
    }

    /// How many things follow, each of which has a byte at least.
    pub fn count(&mut self) -> Result<usize, DecodeError> {
        let count: usize = self.small()?;
        if count > self.0.len() { Err(DecodeError::Length) } else { Ok(count) }
    }

    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(DecodeError::Length)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub fn path(&mut self) -> Result<Vec<u32>, DecodeError> {
        let length: usize = self.small()?;
        if length > LONGEST {
            return Err(DecodeError::Value);
        }
        let mut path = Vec::new();
        while path.len() < length {
            let token = self.number()?;
            let number = u32::try_from(token >> 1).map_err(|_| DecodeError::Value)?;
            let run: usize = if token & 1 == 1 { self.small()? } else { 1 };
            if run == 0 || run > length - path.len() {
                return Err(DecodeError::Value);
            }
            path.resize(path.len() + run, number);
        }
        Ok(path)
    }

    /// There is nothing more.
    pub fn end(self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err(DecodeError::Length) }
    }
}
