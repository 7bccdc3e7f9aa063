"use strict";
(function () {
  var rows = [].slice.call(document.querySelectorAll(".steps tbody tr"));
  var now = -1;
  function mark(selector, wanted) {
    [].forEach.call(document.querySelectorAll(selector), function (element) {
      element.classList.toggle("now", wanted(element));
    });
  }
  function show(index, scroll) {
    if (index < 0 || index >= rows.length) return;
    now = index;
    var row = rows[index];
    rows.forEach(function (other, i) {
      other.classList.toggle("now", i === index);
      other.classList.toggle("later", i > index && other.parentNode === row.parentNode);
    });
    mark(".source span", function (line) { return line.id === row.dataset.line; });
    mark(".picture .event", function (event) {
      return event.dataset.at === row.dataset.at && event.dataset.thread === row.dataset.thread;
    });
    [].forEach.call(document.querySelectorAll(".stepper .count"), function (count) {
      count.textContent = "step " + (index + 1) + " of " + rows.length;
    });
    if (scroll) row.scrollIntoView({ block: "nearest" });
  }
  rows.forEach(function (row, index) {
    row.addEventListener("click", function () { show(index, false); });
    row.addEventListener("keydown", function (event) { if (event.key === "Enter") show(index, false); });
  });
  [].forEach.call(document.querySelectorAll(".picture .event"), function (event) {
    event.addEventListener("click", function () {
      var index = rows.findIndex(function (row) {
        return row.dataset.at === event.dataset.at && row.dataset.thread === event.dataset.thread;
      });
      if (index >= 0) show(index, true);
    });
  });
  // A line of the source leads to its first step, and what the mouse is on shows its line.
  [].forEach.call(document.querySelectorAll(".source .used"), function (line) {
    line.addEventListener("click", function () {
      var index = rows.findIndex(function (row) { return row.dataset.line === line.id; });
      if (index >= 0) show(index, true);
    });
  });
  function hover(element, lineOf) {
    element.addEventListener("mouseenter", function () {
      var id = lineOf();
      mark2(".source span", function (line) { return line.id === id; });
      mark2(".picture .event", function (event) {
        return event.dataset.at === element.dataset.at && event.dataset.thread === element.dataset.thread;
      });
    });
    element.addEventListener("mouseleave", function () { mark2(".hover", function () { return false; }); });
  }
  function mark2(selector, wanted) {
    [].forEach.call(document.querySelectorAll(selector), function (element) {
      element.classList.toggle("hover", wanted(element));
    });
  }
  rows.forEach(function (row) { hover(row, function () { return row.dataset.line; }); });
  [].forEach.call(document.querySelectorAll(".picture .event"), function (event) {
    hover(event, function () {
      var row = rows.find(function (row) { return row.dataset.at === event.dataset.at; });
      return row ? row.dataset.line : "";
    });
  });
  [].forEach.call(document.querySelectorAll(".stepper .back"), function (button) {
    button.addEventListener("click", function () { show(Math.max(now - 1, 0), true); });
  });
  [].forEach.call(document.querySelectorAll(".stepper .next"), function (button) {
    button.addEventListener("click", function () { show(Math.min(now + 1, rows.length - 1), true); });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "ArrowRight" || event.key === "j") { show(Math.min(now + 1, rows.length - 1), true); event.preventDefault(); }
    if (event.key === "ArrowLeft" || event.key === "k") { show(Math.max(now - 1, 0), true); event.preventDefault(); }
  });
  if (rows.length > 0) show(rows.length - 1, false);
})();
