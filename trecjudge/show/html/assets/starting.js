// First of all: while the page starts, what is not seen is not laid out. Where the other scripts
// are cut or too new for the browser, all of it is shown.
document.documentElement.dataset.starting = "yes";
addEventListener("DOMContentLoaded", () => {
  if (!window.trecjudge) delete document.documentElement.dataset.starting;
});
