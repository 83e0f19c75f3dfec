import { Component, type ReactNode } from "react";
import { clean } from "../core/base/text.ts";
import type { ConsoleApp } from "./console-app.ts";
import { createRow, Row, ThemeContext } from "./theme/Row.tsx";

interface PartBoundaryProps {
  app: Pick<ConsoleApp, "log" | "frames">;
  children?: ReactNode;
}

/**
 * A part of the screen. If it fails, its error is shown in its place until the next frame, and the other parts stay
 * usable.
 */
export class PartBoundary extends Component<PartBoundaryProps, { error: unknown }> {
  static override contextType = ThemeContext;
  declare context: React.ContextType<typeof ThemeContext>;
  override state = { error: undefined as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    const { log, frames } = this.props.app;
    log.add(`a part of the screen failed: ${String((error as Error)?.stack ?? error)}`);
    const end = frames.subscribe(() => {
      end();
      frames.hasNews = true;
      this.setState({ error: undefined });
    });
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const text = `${this.context.signs.marks.problem}this part failed, a defect of signalbox: ${String(error)}`;
    return <Row {...createRow(clean(text), "problem")} />;
  }
}
