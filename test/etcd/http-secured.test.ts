import { overTls, withPasswords } from "./secured.ts";

overTls("http");
withPasswords("http");
