# Writes OUTPUT, a C++ fragment with the bytes of the files named in NAMES and
# FILES (pairs, in order) as arrays.
string(REPLACE "," ";" NAMES "${NAMES}")
string(REPLACE "," ";" FILES "${FILES}")
set(text "")
foreach(name file IN ZIP_LISTS NAMES FILES)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND text "const unsigned char ${name}[] = {${bytes}};\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
