/** Stores the largest width of each column, so that columns do not move while data changes or the user scrolls. */
export class ColumnWidths {
  #occasion = "";
  readonly #widths = new Map<string, number>();

  /** @param occasion  columns keep their widths until this value changes */
  begin(occasion: string): void {
    if (occasion === this.#occasion) return;
    this.#occasion = occasion;
    this.#widths.clear();
  }

  has(column: string): boolean {
    return this.#widths.has(column);
  }

  getWidth(column: string): number | undefined {
    return this.#widths.get(column);
  }

  keep(shown: readonly { column: { id: string }; width: number }[]): void {
    for (const { column, width } of shown) this.#widths.set(column.id, width);
  }
}
