// Preloaded into the console: its wall clock stands still, and its user has the scene's name, so that screens are the same
// whenever and by whomever they are made. Monotonic time goes on.
const os = require("node:os");
const { syncBuiltinESMExports } = require("node:module");

const wall = Number(process.env.SCENE_WALL);
Date.now = () => wall;
const userInfo = os.userInfo;
os.userInfo = (...args) => ({ ...userInfo(...args), username: "ann" });
syncBuiltinESMExports();
