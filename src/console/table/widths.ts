/** How wide columns have been, so that nothing jumps while data changes or a list is scrolled. */
export class Widths {
  #occasion = "";
  readonly #widths = new Map<string, number>();

  /** @param occasion  as long as it is the same, columns keep their widths */
  begin(occasion: string): void {
    if (occasion === this.#occasion) return;
    this.#occasion = occasion;
    this.#widths.clear();
  }

  has(column: string): boolean {
    return this.#widths.has(column);
  }

  of(column: string): number | undefined {
    return this.#widths.get(column);
  }

  keep(shown: readonly { column: { id: string }; width: number }[]): void {
    for (const { column, width } of shown) this.#widths.set(column.id, width);
  }
}
