/** Rows that have moved up or down as a block. */
export interface RowShift {
  /** The rows that take part, from 0: the block before and after the move. `end` is the last one. */
  start: number;
  end: number;
  /** How far the block has moved; negative: up. */
  by: number;
}

const FURTHEST = 6;
/** Characters that the terminal must spare us: the sequences of a move have about twenty. */
const LEAST_GAIN = 60;

/** Returns the move that makes most of the rows right; undefined if none is worth it. */
export function findRowShift(before: readonly string[], after: readonly string[]): RowShift | undefined {
  let best: (RowShift & { gain: number }) | undefined;
  for (let by = -FURTHEST; by <= FURTHEST; by += 1) {
    if (by === 0) continue;
    for (const block of listMovedBlocks(before, after, by))
      if (block.gain > (best?.gain ?? LEAST_GAIN)) best = block;
  }
  return best && { start: best.start, end: best.end, by: best.by };
}

/** Lists the blocks of neighbouring rows that have moved so far and differ from what was in their places. */
function listMovedBlocks(before: readonly string[], after: readonly string[], by: number) {
  const blocks: (RowShift & { gain: number })[] = [];
  let block: { first: number; gain: number } | undefined;
  for (let row = 0; row <= after.length; row += 1) {
    const isMoved = row < after.length && after[row] === before[row - by];
    if (isMoved) {
      const text = after[row] ?? "";
      block ??= { first: row, gain: 0 };
      block.gain += text === before[row] ? 0 : text.length;
    } else if (block !== undefined) {
      const last = row - 1;
      blocks.push({
        ...(by > 0 ? { start: block.first - by, end: last } : { start: block.first, end: last - by }),
        by,
        gain: block.gain,
      });
      block = undefined;
    }
  }
  return blocks;
}

/** Returns the sequences that move the block within its rows. The terminal is in the default state; the cursor goes to the top left. */
export function formatRowShift({ start, end, by }: RowShift): string {
  const move = by > 0 ? `${by}L` : `${-by}M`;
  return `\x1b[${start + 1};${end + 1}r\x1b[${start + 1}H\x1b[${move}\x1b[r`;
}

/** Returns the rows on the terminal after the move. */
export function shiftRows(rows: readonly string[], { start, end, by }: RowShift): string[] {
  // The block may end below the last row that is known: what is pushed there is on the terminal.
  return Array.from({ length: Math.max(rows.length, end + 1) }, (_, at) => {
    const from = at < start || at > end ? at : at - by;
    const isBlank = from !== at && (from < start || from > end);
    return isBlank ? "" : (rows[from] ?? "");
  });
}
