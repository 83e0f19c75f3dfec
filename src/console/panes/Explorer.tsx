import { Row } from "../theme/Row.tsx";
import type { ExplorerModel } from "./explorer-model.ts";
import { PaneBox } from "./PaneBox.tsx";

/** The tree of everything, beside the table. */
export function Explorer({ model }: { model: ExplorerModel }) {
  return (
    <PaneBox size={model}>
      <Row
        cells={[{ text: " EXPLORER", role: model.isFocused ? "titleFocused" : "title" }]}
        width={model.width}
      />
      {model.nodes.map(({ key, cells, selection }) => (
        <Row key={key} cells={cells} selection={selection} width={model.width} />
      ))}
    </PaneBox>
  );
}
