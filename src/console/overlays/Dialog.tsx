import type { DialogModel } from "../parts/overlay.ts";
import { BLANK_ROW } from "./content-rows.ts";
import { FittedRows } from "./FittedRows.tsx";

/** What a command would do, its fields, the same command for a shell, and the confirmation. */
export function Dialog({ model, width }: { model: DialogModel; width: number }) {
  const { preview, fields, command, confirmation, faults } = model;
  return (
    <>
      <FittedRows rows={[...preview, BLANK_ROW]} width={width} />
      <FittedRows rows={[...fields, BLANK_ROW]} width={width} />
      <FittedRows rows={[command]} width={width} />
      <FittedRows rows={confirmation} width={width} />
      <FittedRows rows={faults} width={width} />
    </>
  );
}
