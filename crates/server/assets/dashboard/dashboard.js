// A form is sent once: a second click is swallowed until the page is shown again.
for (const form of document.querySelectorAll("form[method=post]")) {
  let isSent = false;
  form.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  addEventListener("pageshow", () => {
    isSent = false;
  });
}
