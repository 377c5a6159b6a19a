// Pictures whose series have names: the picture becomes part of the page, with a button for each series. What comes from
// the picture's file is made anew, element by element: only shapes and text, and only how they look.
{
  const namespace = "http://www.w3.org/2000/svg";
  const elements = new Set(["svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan",
    "title", "desc"]);
  const attributes = new Set(["viewBox", "d", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height",
    "points", "transform", "textLength", "lengthAdjust", "data-series"]);
  const looks = new Set(["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset", "fill-opacity",
    "stroke-opacity", "fill-rule", "font-size", "font-family", "font-weight", "text-anchor", "stroke-linejoin",
    "stroke-linecap"]);
  const plain = /^[\w\s#.,()%+-]*$/;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  // colors are those that a picture has on dark paper: "#222222 #e0e0e0;…".
  const colors = (root) => new Map((root.getAttribute("data-dark") || "").split(";").map((pair) => pair.split(" ")));

  const copy = (node, swap) => {
    if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || !elements.has(node.localName)) return null;
    const out = document.createElementNS(namespace, node.localName);
    const set = (name, value) => {
      const text = swap.get(value.toUpperCase()) || value;
      if (plain.test(text) && !/url/i.test(text)) out.setAttribute(name, text);
    };
    for (const a of node.attributes) {
      if (attributes.has(a.name)) out.setAttribute(a.name, a.value);
      if (looks.has(a.name)) set(a.name, a.value);
    }
    for (const child of node.childNodes) {
      const made = copy(child, swap);
      if (made) out.append(made);
    }
    return out;
  };

  const read = (image) => {
    const kind = "data:image/svg+xml;base64,";
    if (!image.src.startsWith(kind)) return null;
    const bytes = Uint8Array.from(atob(image.src.slice(kind.length)), (c) => c.charCodeAt(0));
    const text = new TextDecoder().decode(bytes).replace(/<style>[^<]*<\/style>/, ""); // the page's policy forbids it
    const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    return root.localName === "svg" ? root : null;
  };

  const switchable = (sheet) => {
    const image = sheet.querySelector("img"), root = image && read(image);
    if (!root) return;
    const names = [...new Set([...root.querySelectorAll("[data-series]")].map((g) => g.getAttribute("data-series")))];
    if (names.length < 2) return;
    const off = new Set(), bar = document.createElement("div");
    let drawn = null;
    const show = () => {
      for (const g of drawn.querySelectorAll("[data-series]")) {
        g.setAttribute("visibility", off.has(g.getAttribute("data-series")) ? "hidden" : "visible");
      }
    };
    const draw = () => {
      const made = copy(root, dark.matches ? colors(root) : new Map());
      made.setAttribute("role", "img");
      made.setAttribute("aria-label", image.alt);
      made.removeAttribute("width");
      made.removeAttribute("height");
      made.classList.add("drawn");
      if (drawn) drawn.replaceWith(made); else image.before(made);
      drawn = made;
      show();
    };
    bar.className = "switches";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "series of the picture");
    for (const name of names) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        if (!off.delete(name)) off.add(name);
        button.setAttribute("aria-pressed", String(!off.has(name)));
        show();
      });
      bar.append(button);
    }
    draw();
    dark.addEventListener("change", draw);
    sheet.classList.add("live");
    sheet.before(bar);
  };

  document.querySelectorAll(".sheet").forEach(switchable);
}
