import { Text } from "ink";
import { memo } from "react";

/** One styled line that fits its width. */
export const Line = memo(({ text }: { text: string }) => (
  <Text wrap="truncate">{text === "" ? " " : text}</Text>
));
