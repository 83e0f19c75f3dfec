import { Box, type BoxProps, type DOMElement } from "ink";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import type { MouseEvent } from "./terminal/input-event.ts";

/** An event of the mouse in an area. Its position counts from the top left of the area. */
export interface AreaEvent extends MouseEvent {
  /** Its position on the screen. */
  origin: { column: number; row: number };
}

type MouseHandler = (event: AreaEvent) => void;

const handlers = new WeakMap<DOMElement, MouseHandler>();

/** A box that receives the mouse. Areas within it come first. */
export function Area({ onMouse, ...box }: BoxProps & { onMouse: MouseHandler; children?: ReactNode }) {
  const ref = useRef<DOMElement>(null);
  useLayoutEffect(() => {
    if (ref.current !== null) handlers.set(ref.current, onMouse);
  });
  return <Box ref={ref} {...box} />;
}

/** Hands an event to the topmost area at its position. @param root  the box of the whole screen */
export function dispatchMouse(root: DOMElement, event: MouseEvent): void {
  const found = findArea(root, { left: 0, top: 0 }, event);
  if (found === undefined) return;
  const { handle, left, top } = found;
  const { column, row } = event;
  handle({ ...event, column: column - left, row: row - top, origin: { column, row } });
}

/** Finds the innermost area at a position. Elements that are rendered later are above earlier ones. */
function findArea(
  element: DOMElement,
  parent: { left: number; top: number },
  at: { column: number; row: number },
): { handle: MouseHandler; left: number; top: number } | undefined {
  const layout = element.yogaNode?.getComputedLayout();
  if (layout === undefined) return undefined;
  const [left, top] = [parent.left + layout.left, parent.top + layout.top];
  const isWithin =
    at.column >= left && at.column < left + layout.width && at.row >= top && at.row < top + layout.height;
  if (!isWithin) return undefined;
  for (const child of element.childNodes.toReversed()) {
    const found = child.nodeName === "ink-box" ? findArea(child, { left, top }, at) : undefined;
    if (found !== undefined) return found;
  }
  const handle = handlers.get(element);
  return handle && { handle, left, top };
}

/** Whether the left button was pressed. */
export function isClick({ action, button }: MouseEvent): boolean {
  return action === "press" && button === "left";
}
