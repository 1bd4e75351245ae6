// Runs before the first paint, so that what only makes sense without JavaScript never flashes up.
document.documentElement.classList.add("js");
