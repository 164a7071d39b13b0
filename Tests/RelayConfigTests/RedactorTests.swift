// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayConfig
import Testing

@Suite struct `Blanking secrets` {
  private func redactor(_ secrets: String...) -> Redactor {
    Redactor(secrets.map { Secret(name: "s", bytes: Array($0.utf8)) })
  }

  @Test(arguments: [
    ("token=pa/ss w+rd-1!", "token=•••"), ("pa/ss w+rd-1!pa/ss w+rd-1!", "•••"),
    ("x pa%2Fss%20w%2Brd-1%21 y", "x ••• y"),
    ("pa%2fss%20w%2brd-1%21", "•••"), ("pa%2Fss+w%2Brd-1%21", "•••"), ("nothing here", "nothing here"), ("", ""),
    ("pa/ss w+rd-1", "pa/ss w+rd-1"), ("é pa/ss w+rd-1! é", "é ••• é"),
  ])
  func `a secret goes, plain or percent-encoded`(text: String, expected: String) {
    #expect(redactor("pa/ss w+rd-1!").redact(text) == expected)
  }

  @Test(arguments: [
    #"pa/ss \"w&r\\d'<é"#, #"pa\/ss \"w&r\\d'<\u00e9"#, #"pa/ss \"w&r\\d'<\u00E9"#, #"pa\/ss \"w&r\\d'<é"#,
    #"pa/ss &quot;w&amp;r\d&#39;&lt;é"#, #"pa/ss &quot;w&amp;r\d&#x27;&lt;é"#, #"pa/ss &quot;w&amp;r\d'&lt;é"#,
  ])
  func `it goes when it is quoted in JSON or HTML`(text: String) {
    #expect(redactor(#"pa/ss "w&r\d'<é"#).redact("said: \(text)!") == "said: •••!")
  }

  @Test func `it goes in base64 wherever it stands in what was encoded`() {
    let secret = "s3cr3t/+>?value~~"
    let redactor = redactor(secret)
    for before in 0..<7 {
      for after in 0..<4 {
        let encoded = Data((String(repeating: "u", count: before) + secret + String(repeating: "x", count: after)).utf8)
          .base64EncodedString()
        for form in [encoded, encoded.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")] {
          let shown = redactor.redact("Basic \(form)")
          #expect(shown.contains(Redactor.blank))
          // What is left can tell no more than the bits shared with its neighbours.
          let left = shown.replacing("Basic ", with: "").replacing(Redactor.blank, with: "").replacing("=", with: "")
          #expect(left.count <= (before + after) * 4 / 3 + 4)
        }
      }
    }
  }

  @Test(arguments: [
    ("pin 1234.", "pin •••."), ("12345", "12345"), ("x1234", "x1234"), ("1234", "•••"), ("(1234)", "(•••)"),
    ("é1234", "é1234"),
  ])
  func `a short one goes only as a whole word`(text: String, expected: String) {
    #expect(redactor("1234").redact(text) == expected)
  }

  @Test func `secrets inside of others and overlapping ones go whole`() {
    #expect(redactor("abcdefgh", "cdefghij", "abcdefghijkl").redact("--abcdefghijkl--abcdefghij--") == "--•••--•••--")
    #expect(redactor("aaaaaaaa").redact(String(repeating: "a", count: 1000)) == "•••")
  }

  @Test func `it agrees with plain search on random texts`() {
    var state: UInt64 = 3
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<300 {
      let secrets = (0..<3).map { _ in String((0..<(8 + random(3))).map { _ in ["a", "b"][random(2)] }.joined()) }
      let text = (0..<60).map { _ in ["a", "b"][random(2)] }.joined()
      var isCovered = [Bool](repeating: false, count: 60)
      for secret in secrets where text.count >= secret.count {
        for start in 0...(60 - secret.count) where text.dropFirst(start).hasPrefix(secret) {
          for place in start..<start + secret.count { isCovered[place] = true }
        }
      }
      var expected = ""
      for (place, letter) in text.enumerated() {
        if !isCovered[place] {
          expected.append(letter)
        } else if place == 0 || !isCovered[place - 1] {
          expected += Redactor.blank
        }
      }
      // Neighbouring finds are joined into one blank.
      #expect(Redactor(secrets.map { Secret(name: "s", bytes: Array($0.utf8)) }).redact(text) == expected)
    }
  }

  @Test func `the beginning of a secret at the end of a long text, where it may have been cut, is blanked`() {
    let redactor = Redactor([Secret(name: "s", bytes: Array("correct-horse-battery-staple".utf8))])
    let filler = String(repeating: "p", count: 300)
    for length in 4..<28 {
      let cut = String("correct-horse-battery-staple".prefix(length))
      #expect(redactor.redact(filler + cut) == filler + Redactor.blank, "\(length)")
    }
    #expect(redactor.redact(filler + "cor") == filler + "cor")
    #expect(redactor.redact("a short text ends with correct") == "a short text ends with correct")
  }

  @Test(arguments: [
    (
      "moved to https://hook.example/services/T0P-S3CRET-HOOK-TOKEN?key=qqq111222333",
      "moved to https://hook.example/•••"
    ),
    ("no such hook: /services/T0P-S3CRET-HOOK-TOKEN", "no such hook: /•••"), ("T0P-S3CRET-HOOK-TOKEN/", "•••/"),
    ("308 Location: /services/T0P-S3CRET-HOOK-TOKEN/", "308 Location: /•••/"), ("bad key qqq111222333", "bad key •••"),
    ("services%2FT0P-S3CRET-HOOK-TOKEN", "•••"), ("user anna of hook.example", "user anna of hook.example"),
    ("password pass-w0rd is wrong", "password ••• is wrong"), ("our services are down", "our services are down"),
  ])
  func `of an address the parts that give it away go, too`(text: String, expected: String) {
    let secret = "http://anna:pass-w0rd@hook.example/services/T0P-S3CRET-HOOK-TOKEN?key=qqq111222333"
    #expect(redactor(secret).redact(text) == expected)
  }

  @Test(arguments: ["http://", "://", "http://a@", "http://a:b@c?", "x://///", "http://h/?&=&", "http://h#"])
  func `an address without parts blanks nothing else`(secret: String) {
    #expect(
      redactor(secret).redact("a quiet text / with ? and & and = in it") == "a quiet text / with ? and & and = in it")
  }
}
