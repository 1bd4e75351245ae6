// A mail's preview is as high as the mail: nothing in it is cut, on screen or on paper. Without JavaScript it scrolls.

const fit = (frame) => {
  const sheet = frame.contentDocument?.body;
  if (sheet) frame.style.height = `${Math.ceil(sheet.getBoundingClientRect().height) + 2}px`;
};
const all = () => document.querySelectorAll("iframe.mail").forEach(fit);

// Caught on its way down, because `load` does not rise; so a preview that was swapped in is heard of too.
document.addEventListener("load", (event) => event.target.matches?.("iframe.mail") && fit(event.target), true);
addEventListener("resize", all);
all();
