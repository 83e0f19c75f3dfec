/** The levels of each colour in the cube of the 256 colours. */
const LEVELS = [0, 95, 135, 175, 215, 255];

/** The nearest of the 256 colours that do not belong to the terminal's user: of the cube, or of the greys. */
export function nearestOf256(r: number, g: number, b: number): number {
  const [cr, cg, cb] = [levelOf(r), levelOf(g), levelOf(b)];
  const grey = Math.max(0, Math.min(23, Math.round(((r + g + b) / 3 - 8) / 10)));
  const distance = (x: number, y: number, z: number) => (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2;
  const cube = distance(LEVELS[cr] ?? 0, LEVELS[cg] ?? 0, LEVELS[cb] ?? 0);
  const level = 8 + 10 * grey;
  return distance(level, level, level) < cube ? 232 + grey : 16 + 36 * cr + 6 * cg + cb;
}

function levelOf(value: number): number {
  const off = (at: number) => Math.abs((LEVELS[at] ?? 0) - value);
  return LEVELS.reduce((best, _, at) => (off(at) < off(best) ? at : best), 0);
}
