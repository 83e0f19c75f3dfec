import { Row } from "../theme/Row.tsx";
import type { BarModel } from "./bar-model.ts";

/** A line with a background: the header, or the status at the bottom. */
export function Bar({ bar: { left, right, gap, ground } }: { bar: BarModel }) {
  return <Row cells={[...left, { text: " ".repeat(gap), role: ground }, ...right]} width={0} />;
}
