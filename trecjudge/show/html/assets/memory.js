// What a view was set to (its measure, filters, sorting) stands in its address, after a "?": who
// comes back, reloads or is sent the address finds it as it was.

/** The value of a setting in the address; empty where it has none. */
function remembered(name) {
  return new URLSearchParams(location.hash.split("?")[1]).get(name) || "";
}

function remember(name, value) {
  const [path, query] = location.hash.split("?");
  const settings = new URLSearchParams(query);
  if (value === "") settings.delete(name);
  else settings.set(name, value);
  try {
    history.replaceState(null, "", [path || "#/", settings].join(settings.size ? "?" : ""));
  } catch {
    // a viewer of attachments may forbid it; the view works without
  }
}

/** A filter as the address has it. */
function filterIn(name) {
  return remembered(name).trim().toLowerCase();
}

/** The position of the name in the address, if it is one of these. */
function chosenIn(name, names, otherwise) {
  const found = names.indexOf(remembered(name));
  return found < 0 ? otherwise : found;
}
