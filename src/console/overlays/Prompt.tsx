import { useState } from "react";
import type { ConsoleApp } from "../console-app.ts";
import { PAST_TARGET_FORM, parsePastTarget } from "../data/time-travel.ts";
import { createRow } from "../theme/Row.tsx";
import { OverlayFrame, useField, useKeys, useOverlay } from "./OverlayFrame.tsx";

const MAX_COLUMNS = 76;

interface PromptProps {
  title: string;
  /** Describes the text to type. */
  note: string;
  start?: string;
  /** What Enter does, in a word. */
  verb: string;
  /** @returns why the text cannot be used; the prompt then stays open */
  onSubmit(text: string): string | undefined;
}

/** Asks for a text. */
export function Prompt({ title, note, start, verb, onSubmit }: PromptProps) {
  const { width, close } = useOverlay(MAX_COLUMNS);
  const field = useField(start);
  const [fault, setFault] = useState<string>();
  const submit = () => {
    const found = onSubmit(field.text);
    if (found === undefined) close();
    else setFault(found);
  };
  useKeys({ enter: submit }, (_, event) => field.edit(event) && setFault(undefined));
  return (
    <OverlayFrame
      title={title}
      rows={[
        createRow(note, "quiet"),
        { cells: field.buildCells(width) },
        ...(fault === undefined ? [] : [createRow(fault, "problem")]),
      ]}
      hints={[["Enter", verb]]}
      escape="cancel"
      width={width}
    />
  );
}

/** Shows the state of etcd at a time that the user has typed. */
export function travelTo(app: ConsoleApp, text: string): void {
  const fault = startTravel(app, text);
  if (fault !== undefined) app.showToast(fault, "problem");
}

/** @returns why the text is not a time */
function startTravel(app: ConsoleApp, text: string): string | undefined {
  const target = parsePastTarget(text, app.getPresentTime());
  if ("fault" in target) return target.fault;
  app.travel.go(target);
  return undefined;
}

/** Asks for a time, and shows the state of etcd then. Stays open until the text is a time. */
export function TravelPrompt() {
  const { app } = useOverlay();
  return (
    <Prompt
      title="show a past time"
      note={`${PAST_TARGET_FORM} (UTC)`}
      verb="go"
      onSubmit={(text) => startTravel(app, text)}
    />
  );
}
