import { Row } from "../theme/Row.tsx";
import { Rows } from "../theme/Rows.tsx";
import { useTheme } from "../theme/ThemeContext.tsx";
import type { DetailModel } from "./detail-model.ts";
import { PaneBox } from "./PaneBox.tsx";

/** The detail of the selected row. */
export function DetailPane({ model: { rows, more, ...size } }: { model: DetailModel }) {
  return (
    <PaneBox size={size}>
      <Rows rows={rows} width={size.width} />
      {more > 0 && <More count={more} />}
    </PaneBox>
  );
}

function More({ count }: { count: number }) {
  const { signs } = useTheme();
  return <Row cells={[{ text: ` ${signs.ellipsis} ${count} more lines`, role: "quiet" }]} width={0} />;
}
