import { Screen } from "../../commands/see/screen.ts";
import type { Surroundings } from "../../commands/spec.ts";
import type { App } from "../app/app.ts";
import { frameOf } from "../frame/frame.ts";
import { Renderer } from "../view/renderer.tsx";
import type { Face } from "./face.ts";
import { modesOf } from "./modes.ts";

/** The whole screen, of which only lines that have changed are written. */
export class ScreenFace implements Face {
  readonly #screen: Screen;
  readonly #renderer = new Renderer();

  constructor(world: Surroundings, wants: { mouse: boolean }) {
    this.#screen = new Screen(world, modesOf(wants));
  }

  begin(): void {
    this.#screen.enter();
  }

  end(): void {
    this.#screen.leave();
  }

  show(app: App): boolean {
    const { finished } = app.theme;
    return this.#screen.paint(this.#renderer.lines(frameOf(app)).map(finished));
  }

  forget(): void {
    this.#screen.forget();
  }
}
