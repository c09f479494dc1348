// Marks: a shape for each state and each proof, so that they can be distinguished without colour.

const shield = "M8 .8 14 3v4.6c0 3.6-2.4 6.2-6 7.6-3.6-1.4-6-4-6-7.6V3z";

const shapes = {
  active: "M4 2.5 13.5 8 4 13.5z",
  waiting: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zm0 1.7a3.3 3.3 0 1 1 0 6.6 3.3 3.3 0 0 1 0-6.6z",
  paused: "M4 3h3v10H4zM9 3h3v10H9z",
  error: "M4.2 2.8 8 6.6l3.8-3.8 1.4 1.4L9.4 8l3.8 3.8-1.4 1.4L8 9.4l-3.8 3.8-1.4-1.4L6.6 8 2.8 4.2z",
  complete: "M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  removed: "M3 7h10v2H3z",
  verified: shield + "M7.1 10.9 12 5.8l-1.1-1.1-3.8 4-2-2L4 7.8z",
  signed: "M8 .5a5.3 5.3 0 1 0 0 10.6A5.3 5.3 0 0 0 8 .5zM7.3 8.5 10.9 4.7l-1-1-2.6 2.8-1.3-1.3-1 1zM4.3 11.3 3.7 15.7 8 13.6l4.3 2.1-.6-4.4A6.7 6.7 0 0 1 8 12.4a6.7 6.7 0 0 1-3.7-1.1z",
  unverified: shield + "M8 2.5 3.6 4.1v3.5c0 2.7 1.7 4.7 4.4 5.9 2.7-1.2 4.4-3.2 4.4-5.9V4.1z",
  refuted: shield + "M5.6 4.6 8 7l2.4-2.4 1 1L9 8l2.4 2.4-1 1L8 9 5.6 11.4l-1-1L7 8 4.6 5.6z",
};

const svg = "http://www.w3.org/2000/svg";

// mark returns an element with a shape. put changes the shape.
export function mark(shape = "") {
  const e = document.createElementNS(svg, "svg");
  e.setAttribute("viewBox", "0 0 16 16");
  e.setAttribute("aria-hidden", "true");
  e.append(document.createElementNS(svg, "path"));
  put(e, shape);
  return e;
}

export function put(e, shape) {
  if (e.dataset.shape === shape) return;
  e.dataset.shape = shape;
  e.firstChild.setAttribute("d", shapes[shape] || "");
}
