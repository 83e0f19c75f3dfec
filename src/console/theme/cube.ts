/** Levels of each component in the colour cube of the 256 colours. */
const LEVELS = [0, 95, 135, 175, 215, 255];

/** Returns the nearest of the 256 colours that users do not redefine: those of the cube and the greys. */
export function findNearest256(r: number, g: number, b: number): number {
  const [cr, cg, cb] = [findNearestLevel(r), findNearestLevel(g), findNearestLevel(b)];
  const grey = Math.max(0, Math.min(23, Math.round(((r + g + b) / 3 - 8) / 10)));
  const computeDistance = (x: number, y: number, z: number) => (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2;
  const cube = computeDistance(LEVELS[cr] ?? 0, LEVELS[cg] ?? 0, LEVELS[cb] ?? 0);
  const level = 8 + 10 * grey;
  return computeDistance(level, level, level) < cube ? 232 + grey : 16 + 36 * cr + 6 * cg + cb;
}

function findNearestLevel(value: number): number {
  const computeOffset = (at: number) => Math.abs((LEVELS[at] ?? 0) - value);
  return LEVELS.reduce((best, _, at) => (computeOffset(at) < computeOffset(best) ? at : best), 0);
}
