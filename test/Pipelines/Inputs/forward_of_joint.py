"""joint graph -> its forward part: returns only the first N results."""
import re, sys
text, n = open(sys.argv[1]).read(), int(sys.argv[2])
def split(s):
    out, depth, cur = [], 0, ""
    for c in s:
        if c in "<([": depth += 1
        if c in ">)]": depth -= 1
        if c == "," and depth == 0: out.append(cur.strip()); cur = ""
        else: cur += c
    return out + [cur.strip()]
m = re.search(r"^( *)(return|func\.return) (.*?) : (.*)$", text, re.M)
vals, types = split(m.group(3))[:n], split(m.group(4))[:n]
text = text[:m.start()] + "%s%s %s : %s" % (m.group(1), m.group(2), ", ".join(vals), ", ".join(types)) + text[m.end():]
h = re.search(r"(func\.func (?:public )?@main\(.*?\)) -> (\(.*?\)|tensor<[^>]*>)( attributes \{.*?\})? \{", text)
text = text[:h.start(2)] + "(" + ", ".join(types) + ")" + text[h.end(2):]
k = int(sys.argv[3])
if k:
    a = re.search(r"@main\((.*?)\) -> ", text)
    args = split(a.group(1))[:-k]
    text = text[:a.start(1)] + ", ".join(args) + text[a.end(1):]
sys.stdout.write(text)
