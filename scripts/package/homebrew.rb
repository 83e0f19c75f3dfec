# The console, the page, the listings and the library for a Mac, from the npm package. `brew install --formula ./signalbox.rb`
require "language/node"

class Signalbox < Formula
  desc "Distributed locks, leases and highly available cron over etcd: console and library"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/download/v@VERSION@/@PACKAGE@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
    generate_completions_from_executable(bin/"signalbox", "completion")
  end

  def caveats
    "run, worker and agent need Linux; here are the console, the page, the listings and the library."
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/signalbox --version")
    assert_match "needs Linux", shell_output("#{bin}/signalbox run --lock a -- true 2>&1", 78) if OS.mac?
  end
end
