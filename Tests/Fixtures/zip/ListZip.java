// SPDX-License-Identifier: Apache-2.0
import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** Reads a ZIP as a stream and prints, for each file, its name in hexadecimal UTF-8 and the SHA-256 of its bytes. */
final class ListZip {
  public static void main(String[] arguments) throws Exception {
    try (ZipInputStream zip = new ZipInputStream(new FileInputStream(arguments[0]))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        System.out.println(hex(entry.getName().getBytes(StandardCharsets.UTF_8)) + " " + hex(digest(zip)));
      }
    }
  }

  private static byte[] digest(InputStream stream) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    byte[] chunk = new byte[65536];
    for (int count = stream.read(chunk); count >= 0; count = stream.read(chunk)) digest.update(chunk, 0, count);
    return digest.digest();
  }

  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte value : bytes) text.append(String.format("%02x", value));
    return text.toString();
  }
}
