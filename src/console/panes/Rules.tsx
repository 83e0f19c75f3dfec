import { Box, Text } from "ink";
import { Row, Span } from "../theme/Row.tsx";
import { useTheme } from "../theme/ThemeContext.tsx";

interface TitleRuleProps {
  title: string;
  isFocused: boolean;
  width: number;
}

/** A line with a title, between two panes that are one above the other. */
export function TitleRule({ title, isFocused, width }: TitleRuleProps) {
  const { horizontal } = useTheme().signs;
  const rest = horizontal.repeat(Math.max(0, width - title.length - 3));
  const role = isFocused ? "accent" : "border";
  return (
    <Row
      cells={[
        { text: `${horizontal} `, role },
        { text: title, role: isFocused ? "titleFocused" : "title" },
        { text: ` ${rest}`, role },
      ]}
      width={width}
    />
  );
}

/** A line between two panes that are side by side. */
export function Divider({ height, isFocused = false }: { height: number; isFocused?: boolean }) {
  const { vertical } = useTheme().signs;
  return (
    <Box width={1} flexShrink={0}>
      <Text wrap="truncate">
        <Span
          cell={{ text: Array(height).fill(vertical).join("\n"), role: isFocused ? "accent" : "border" }}
        />
      </Text>
    </Box>
  );
}
