/**
 * Where a text is scrolled to by a key or the mouse's wheel.
 * @param by      a chord, or what the mouse did; others than those for scrolling change nothing
 * @param length  lines there are; @param height  lines in sight
 */
export function scrollBy(by: string, top: number, length: number, height: number): number {
  const last = Math.max(0, length - height);
  const to = target(by, top, last, height);
  return Math.max(0, Math.min(to, last));
}

function target(by: string, top: number, last: number, height: number): number {
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
