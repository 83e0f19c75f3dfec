import { Row } from "../theme/Row.tsx";
import type { TabsModel } from "./tabs-model.ts";

/** The names of the views, with the active one marked. */
export function Tabs({ model: { start, end, separator, tabs } }: { model: TabsModel }) {
  const between = { text: separator, role: "border" } as const;
  const cells = tabs.flatMap((tab, at) => (at === 0 ? [tab] : [between, tab]));
  return <Row cells={[{ text: start }, ...cells, { text: end }]} width={0} />;
}
