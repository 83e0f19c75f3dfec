import { overTls, withPasswords } from "./secured.ts";

overTls("grpc");
withPasswords("grpc");
