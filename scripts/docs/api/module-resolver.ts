import { dirname, join } from "node:path";
import { type Declaration, DeclarationFile } from "./declaration-file.ts";

/** Reads the text of a declaration file by its path. */
export type ReadDeclarations = (path: string) => string;

/** A declaration and its file. */
export interface Located {
  file: DeclarationFile;
  declaration: Declaration;
}

/** Finds the declarations of exports, through all files that re-export them. Reads each file once. */
export class ModuleResolver {
  readonly #read: ReadDeclarations;
  readonly #files = new Map<string, DeclarationFile>();

  constructor(read: ReadDeclarations) {
    this.#read = read;
  }

  /** Follows the exports of a file to their declarations. */
  locateExports(path: string): Map<string, Located> {
    const file = this.#open(path);
    const found = new Map<string, Located>();
    for (const one of file.exports) {
      if (typeof one === "string") found.set(one, locateDeclaration(file, one));
      else for (const [name, located] of this.#follow(file, one)) found.set(name, located);
    }
    return found;
  }

  #follow(file: DeclarationFile, { name, source }: { name: string | undefined; source: string }) {
    const all = this.locateExports(join(dirname(file.path), source.replace(/\.ts$/, ".d.ts")));
    if (name === undefined) return all;
    const located = all.get(name);
    if (located === undefined) throw new Error(`${file.path}: ${source} does not export ${name}`);
    return new Map([[name, located]]);
  }

  #open(path: string): DeclarationFile {
    const file = this.#files.get(path) ?? new DeclarationFile(path, this.#read(path));
    this.#files.set(path, file);
    return file;
  }
}

function locateDeclaration(file: DeclarationFile, name: string): Located {
  const declaration = file.declarations.get(name);
  if (declaration === undefined) throw new Error(`${file.path}: ${name} is exported but not declared`);
  return { file, declaration };
}
