//! The platform that a program is compiled for: what headers ask the preprocessor about it.

/// A platform. All are LP64, little-endian Linux; they differ in the macros that name the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Target {
    /// No particular processor: for models of the language.
    #[default]
    Generic,
    /// `__x86_64__`.
    X86_64,
    /// `__aarch64__`.
    Aarch64,
    /// `__powerpc64__`, little-endian.
    Powerpc64,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 4] = [Target::Generic, Target::X86_64, Target::Aarch64, Target::Powerpc64];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Generic => "generic",
            Target::X86_64 => "x86_64",
            Target::Aarch64 => "aarch64",
            Target::Powerpc64 => "powerpc64",
        }
    }

    /// The target of that name.
    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    /// The macros that name the processor.
    pub fn macros(self) -> &'static str {
        match self {
            Target::Generic => "",
            Target::X86_64 => {
                "#define __x86_64__ 1\n#define __x86_64 1\n#define __amd64__ 1\n#define __amd64 1\n"
            }
            Target::Aarch64 => {
                "#define __aarch64__ 1\n#define __AARCH64EL__ 1\n#define __ARM_64BIT_STATE 1\n#define __ARM_ARCH 8\n\
                    #define __ARM_ARCH_8A 1\n"
            }
            Target::Powerpc64 => {
                "#define __powerpc64__ 1\n#define __powerpc__ 1\n#define __PPC64__ 1\n#define __PPC__ 1\n\
                    #define __ppc64__ 1\n#define __ppc__ 1\n#define _ARCH_PPC64 1\n#define _CALL_ELF 2\n\
                    #define __LITTLE_ENDIAN__ 1\n#define _LITTLE_ENDIAN 1\n"
            }
        }
    }
}
