/**
 * Returns the new scroll position after a key or a turn of the mouse wheel.
 * @param by      a chord or a mouse action; those that do not scroll change nothing
 * @param length  number of lines
 * @param height  number of visible lines
 */
export function scrollBy(by: string, top: number, length: number, height: number): number {
  const last = Math.max(0, length - height);
  const to = computeTarget(by, top, last, height);
  return Math.max(0, Math.min(to, last));
}

function computeTarget(by: string, top: number, last: number, height: number): number {
  switch (by) {
    case "down":
    case "j":
      return top + 1;
    case "up":
    case "k":
      return top - 1;
    case "wheel-down":
      return top + 3;
    case "wheel-up":
      return top - 3;
    case "pagedown":
    case "ctrl+f":
    case "space":
      return top + height - 1;
    case "pageup":
    case "ctrl+b":
      return top - height + 1;
    case "home":
    case "g":
      return 0;
    case "end":
    case "G":
      return last;
    default:
      return top;
  }
}
