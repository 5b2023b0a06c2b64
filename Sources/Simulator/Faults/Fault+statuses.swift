/// Answers that say something instead of giving data: statuses, pages, redirects.
extension Fault {
  private static let denied = "{\"Message\":\"Authorization has been denied for this request.\"}"

  // All feeds that need a key use JSON. FuelWatch uses XML and needs no key. Without a key there is
  // nothing to renew or correct, so that a 401 counts as any other fault of the server.
  static let statuses: [Fault] = [
    text("server-error-500", ["F-H05"], .unavailable, status: 500, "Internal Server Error"),
    text("server-error-502", ["F-H05"], .unavailable, status: 502, type: "text/html", htmlPage),
    text("server-error-503", ["F-H05"], .unavailable, status: 503, type: "text/html", htmlPage),
    text("server-error-504", ["F-H05"], .unavailable, status: 504, type: "text/html", ""),
    text("request-timeout-408", ["F-H05"], .unavailable, status: 408),
    text("unauthorised-401", ["F-H08"], .notAllowed, format: "json", status: 401, denied),
    text("unauthorised-401-without-key", ["F-H08"], .unavailable, format: "xml", status: 401),
    text("forbidden-403", ["F-H09"], .notAllowed, format: "json", status: 403, denied),
    text("forbidden-403-without-key", ["F-H09"], .unavailable, format: "xml", status: 403),
    text("not-found-404", ["F-H10"], .unavailable, status: 404),
    text("gone-410", ["F-H10"], .unavailable, status: 410),
    text("not-modified-304", ["F-H11"], .refused, status: 304, ""),
  ]

  /// A 429 whose `Retry-After` header says when to come back, if it has one.
  private static func wait(_ name: String, _ result: Result, _ after: String?) -> Fault {
    text(
      "too-many-429-\(name)", ["F-H06"], result, status: 429,
      headers: after.map { ["Retry-After": $0] } ?? [:])
  }

  static let waits: [Fault] = [
    wait("for-a-second", .comeBack, "1"),
    wait("for-an-hour", .comeBack, "3600"),
    wait("for-a-year", .comeBack, "31536000"),
    // A number larger than 64 bits can hold.
    wait("for-ever", .comeBack, "99999999999999999999999"),
    wait("until-past-date", .comeBack, "Wed, 21 Oct 2015 07:28:00 GMT"),
    wait("until-date", .comeBack, "Wed, 21 Oct 2099 07:28:00 GMT"),
    wait("negative", .comeBack, "-60"),
    wait("unparsable", .comeBack, "soon"),
    wait("without-word", .comeBack, nil),
    text(
      "server-error-503-for-a-second", ["F-H05"], .unavailable, status: 503,
      headers: ["Retry-After": "1"]),
    text(
      "server-error-503-for-an-hour", ["F-H05"], .comeBack, status: 503,
      headers: ["Retry-After": "3600"]),
  ]
}

// MARK: - Something else with status 200

private let htmlPage = """
  <!DOCTYPE html>
  <html><head><title>Scheduled maintenance</title></head>
  <body><h1>We will be back soon</h1></body></html>
  """

extension Fault {
  static let pages: [Fault] = [
    text("html-page", ["F-H12", "F-X02"], .refused, type: "text/html", htmlPage),
    // Templates of login pages often begin with blank lines that their instructions leave behind.
    text(
      "login-page", ["F-H12"], .refused, type: "text/html",
      "\r\n\r\n\t  <HTML><body><form action=\"/login\"><input name=\"user\"></form></body></HTML>"),
    text("ok-false", ["F-H12"], .refused, "{\"ok\":false}"),
    text(
      "error-details", ["F-H12"], .refused,
      "{\"errorDetails\":{\"code\":\"E0014\",\"message\":\"Invalid request\"}}"),
    text(
      "error-details-list", ["F-H12"], .refused,
      "{\"errorDetails\":[{\"code\":\"E0014\",\"message\":\"Invalid request\"}]}"),
    text("empty", ["F-H12", "F-P07"], .refused, ""),
    text("blank", ["F-P07"], .refused, " \r\n\t\r\n"),
    text("only-byte-order-mark", ["F-P07"], .refused, "\u{FEFF}"),
  ]
}

// MARK: - Redirects

extension Fault {
  /// No redirect may be followed. Most of the targets are on the same server, whose log would show
  /// a redirect that was followed.
  private static func redirect(_ name: String, _ status: Int, _ location: String?) -> Fault {
    text(
      "redirect-\(name)", ["F-H13"], .unavailable, status: status,
      headers: location.map { ["Location": $0] } ?? [:], "")
  }

  static let redirects: [Fault] = [
    redirect("301", 301, "/elsewhere"),
    redirect("302", 302, "/elsewhere"),
    redirect("303", 303, "/elsewhere"),
    redirect("307", 307, "/elsewhere"),
    redirect("308", 308, "/elsewhere"),
    redirect("to-other-host", 302, "https://redirected.invalid/elsewhere"),
    redirect("to-plain-http", 301, "http://redirected.invalid/elsewhere"),
    redirect("to-metadata-service", 307, "http://169.254.169.254/latest/meta-data/"),
    redirect("to-file", 302, "file:///etc/hostname"),
    redirect("relative", 302, "elsewhere?page=2"),
    redirect("to-nowhere", 302, ""),
    redirect("without-location", 302, nil),
    // A fragment alone refers to the same address again.
    redirect("loop", 302, "#again"),
  ]
}
