# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How wide text is: reads the advances of characters out of a TrueType font of this machine, so that drawings are not
# measured by the table they were made with. Knows the two tables of a font that say so (cmap format 4, hmtx).

import glob
import struct


class Font:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        count = self.number("H", 4)
        self.tables = {self.bytes[12 + 16 * i :][:4]: self.number("I", 12 + 16 * i + 8) for i in range(count)}
        self.em = self.number("H", self.tables[b"head"] + 18)
        self.long_metrics = self.number("H", self.tables[b"hhea"] + 34)
        cmap = self.tables[b"cmap"]
        places = [cmap + self.number("I", cmap + 8 + 8 * i) for i in range(self.number("H", cmap + 2))]
        self.map = next(place for place in places if self.number("H", place) == 4)

    def number(self, letter, place):
        return struct.unpack_from(">" + letter, self.bytes, place)[0]

    def glyph(self, code):
        """The index of a character's glyph, 0 where the font has none."""
        segments = self.number("H", self.map + 6)
        ends, starts = self.map + 14, self.map + 16 + segments
        for place in range(0, segments, 2):
            if self.number("H", ends + place) >= code:
                break
        else:
            return 0
        start = self.number("H", starts + place)
        if code < start:
            return 0
        delta, range_place = self.number("H", starts + segments + place), starts + 2 * segments + place
        offset = self.number("H", range_place)
        if offset == 0:
            return (code + delta) & 0xFFFF
        found = self.number("H", range_place + offset + 2 * (code - start))
        return (found + delta) & 0xFFFF if found else 0

    def width(self, text):
        """In em. A character that the font has not is taken to be 1 em wide, as those of East Asia are."""
        total = 0.0
        for character in text:
            glyph = self.glyph(ord(character)) if ord(character) < 0x10000 else 0
            place = self.tables[b"hmtx"] + 4 * min(glyph, self.long_metrics - 1)
            total += self.number("H", place) / self.em if glyph else 1.0
        return total


def find_font(name):
    """DejaVu is the widest of the usual fonts, together with Verdana. None where this machine has it not."""
    paths = glob.glob(f"/usr/share/fonts/**/{name}.ttf", recursive=True)
    return Font(paths[0]) if paths else None
