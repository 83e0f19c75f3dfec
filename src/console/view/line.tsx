import { Text } from "ink";
import { memo } from "react";

/** One painted line, which fits. */
export const Line = memo(({ text }: { text: string }) => (
  <Text wrap="truncate">{text === "" ? " " : text}</Text>
));
