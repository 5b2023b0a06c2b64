package import Foundation
import Glibc

/// Returns the host of an address, if this program may call it: over HTTPS, without credentials in
/// the address, and outside of this machine and private networks.
///
/// A mistyped or injected address must not lead this program to services behind the firewall.
/// Numeric addresses are checked in every notation that the resolver understands.
///
/// - Parameter allowLoopback: whether this machine may be called, over HTTP too.
/// - Throws: `HTTPError.addressRefused` for any other address.
package func checkedHost(of url: URL, allowLoopback: Bool) throws(HTTPError) -> String {
  guard let host = url.host, !host.isEmpty else { throw .addressRefused("no host") }
  guard url.user == nil, url.password == nil else {
    throw .addressRefused("credentials in the address of \(host)")
  }
  let inside = insideNetwork(host)
  switch url.scheme?.lowercased() {
  case "https": break
  case "http" where allowLoopback && inside == "loopback": return host
  default: throw .addressRefused("the address of \(host) does not use https")
  }
  if let inside, !(allowLoopback && inside == "loopback") {
    throw .addressRefused("\(host) is a \(inside) address")
  }
  return host
}

/// Whether a host is this machine.
package func isLoopback(_ host: String) -> Bool { insideNetwork(host) == "loopback" }

/// Returns the kind of non-public network of a numeric host; `nil` for public addresses and names.
private func insideNetwork(_ host: String) -> String? {
  // A dot at the end does not change the meaning of a name.
  var name = host.lowercased()
  if name.hasSuffix(".") { name.removeLast() }
  if name == "localhost" || name.hasSuffix(".localhost") { return "loopback" }
  var v6 = in6_addr()
  if inet_pton(AF_INET6, name.trimmingCharacters(in: ["[", "]"]), &v6) == 1 {
    let bytes = withUnsafeBytes(of: v6) { Array($0) }
    if bytes.dropLast().allSatisfy({ $0 == 0 }), bytes[15] <= 1 { return "loopback" }
    if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
      return insideNetwork(v4: Array(bytes[12...]))
    }
    // The prefix of gateways that carry IPv4 in IPv6 (64:ff9b::/96).
    if bytes[..<12] == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] {
      return insideNetwork(v4: Array(bytes[12...]))
    }
    if bytes[0] & 0xFE == 0xFC { return "private" }
    if bytes[0] == 0xFE, bytes[1] & 0xC0 == 0x80 { return "link-local" }
    return nil
  }
  // inet_aton also understands 127.1, 0x7f000001 and 2130706433.
  var v4 = in_addr()
  guard inet_aton(name, &v4) == 1 else { return nil }
  return insideNetwork(v4: withUnsafeBytes(of: v4) { Array($0) })
}

private func insideNetwork(v4 bytes: [UInt8]) -> String? {
  switch (bytes[0], bytes[1]) {
  case (127, _), (0, _): "loopback"
  case (10, _), (172, 16...31), (192, 168), (100, 64...127): "private"
  case (169, 254): "link-local"
  case (224..., _): "multicast"
  default: nil
  }
}
