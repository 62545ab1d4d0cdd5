// From a file a browser loads no modules, and so not the page. This is no module.

if (location.protocol === "file:") {
  document.getElementById("status").textContent =
    "A browser does not run this page from a file. Serve its folder: python3 -m http.server --bind 127.0.0.1, and open http://127.0.0.1:8000/.";
}
