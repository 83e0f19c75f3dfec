import type { PaletteModel } from "../parts/overlay.ts";
import { FittedRows } from "./FittedRows.tsx";

interface PaletteProps {
  model: PaletteModel;
  width: number;
}

/** The field of the palette, what was found, and how much. */
export function Palette({ model: { field, matches, notes }, width }: PaletteProps) {
  return (
    <>
      <FittedRows rows={[field]} width={width} />
      <FittedRows rows={matches} width={width} />
      <FittedRows rows={notes} width={width} />
    </>
  );
}
