import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENTRY, emitDeclarations } from "../../build/types.ts";
import { readLibraryApi } from "./library-api.ts";
import { renderLibraryPage } from "./library-page.ts";

/**
 * Generates docs/library-api.md from the sources of the library, so that it needs no build.
 * @param root  the checkout
 * @throws Error if something exported has no docstring, or uses a type that is not exported
 */
export function buildLibraryPage(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-types-"));
  try {
    emitDeclarations(root, folder);
    return renderLibraryPage(readLibraryApi(join(folder, ENTRY)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
