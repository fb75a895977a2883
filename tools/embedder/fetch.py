#!/usr/bin/env python3
"""Brings the sources that the table is trained on: `fetch.py FOLDER`.

sources.lock has a line for each package: registry, name, version, sha256 of its archive. Those versions are downloaded and
their digests compared; packages of wanted.txt that it does not name are looked up and added (delete a line to take the newest).
Where the registries are is told by the environment: PYPI_URL and NPM_URL (their JSON interfaces), CRATES_URL (where the .crate files
lie) and DEBIAN_URL (a mirror).
Archives stay packed: pairs.py reads them as they are. Debian keeps no older versions than those of its release."""
import concurrent.futures
import hashlib
import json
import lzma
import os
import sys
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
LOCK = os.path.join(HERE, "sources.lock")
LARGEST = 60_000_000
ARCHIVES = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".crate")


def registry_url(name):
    """Where a registry is, without the slash at the end."""
    try:
        return os.environ[name].rstrip("/")
    except KeyError:
        sys.exit(f"fetch.py: set {name} to the address of that registry")


def get(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        if int(answer.headers.get("content-length") or 0) > LARGEST:
            raise ValueError("too large")
        return answer.read()


def debian_sources():
    """Source package → (version, address of its archive)."""
    debian = registry_url("DEBIAN_URL") + "/"
    text = lzma.decompress(get(debian + "dists/bookworm/main/source/Sources.xz")).decode()
    found = {}
    for stanza in text.split("\n\n"):
        fields, files = {}, []
        for line in stanza.splitlines():
            if line.startswith(" "):
                parts = line.split()
                if len(parts) == 3 and ".orig.tar." in parts[2] and len(parts[0]) == 64:
                    files.append(parts[2])
            elif ":" in line:
                key, value = line.split(":", 1)
                fields[key] = value.strip()
        if files:
            found[fields["Package"]] = (fields["Version"], debian + fields["Directory"] + "/" + files[0])
    return found


def look_up(registry, name, version, debian):
    if registry == "pypi":
        page = f"{registry_url('PYPI_URL')}/{name}/json"
        about = json.loads(get(page))
        version = version or about["info"]["version"]
        source = next(file for file in about["releases"][version] if file["packagetype"] == "sdist")
        return version, urllib.parse.urljoin(page, source["url"])
    if registry == "npm":
        about = json.loads(get(f"{registry_url('NPM_URL')}/{name.replace('/', '%2f')}/{version or 'latest'}"))
        return about["version"], about["dist"]["tarball"]
    if registry == "crate":
        name = name.split("@")[0]
        return version, f"{registry_url('CRATES_URL')}/{name}/{name}-{version}.crate"
    return debian[name]


def bring(folder, registry, name, locked, debian):
    try:
        version, digest = locked or (None, None)
        version, address = look_up(registry, name, version, debian)
        ending = next(ending for ending in ARCHIVES if address.endswith(ending))
        kept = name.replace("@", "-") if registry == "crate" else name.replace("/", "+")
        path = os.path.join(folder, f"{registry}+{kept}{ending}")
        if not os.path.exists(path):
            body = get(address)
            with open(path + ".part", "wb") as out:
                out.write(body)
            os.replace(path + ".part", path)
        with open(path, "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
        if digest and digest != found:
            raise ValueError(f"its digest is {found}, not {digest}")
        return f"{registry} {name} {version} {found}"
    except Exception as error:  # one package that is gone does not stop the rest; it is named
        print(f"left out: {registry} {name}: {error!r}", file=sys.stderr)
        return f"{registry} {name} {' '.join(locked)}" if locked else None


def main(folder):
    os.makedirs(folder, exist_ok=True)
    locked = {}
    if os.path.exists(LOCK):
        for line in open(LOCK):
            registry, name, *rest = line.split()
            locked[registry, name] = rest
    wanted = []
    for line in open(os.path.join(HERE, "wanted.txt")):
        if not line.startswith("#"):
            registry, *names = line.split()
            wanted += [(registry, name) for name in names]
    # Crates are those that this workspace was built with when the table was made.
    wanted += [one for one in locked if one[0] == "crate"]
    debian = debian_sources()
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        lines = pool.map(lambda one: bring(folder, *one, locked.get(one), debian), wanted)
        lines = sorted(line for line in lines if line)
    with open(LOCK, "w") as out:
        out.writelines(line + "\n" for line in lines)
    print(len(lines), "packages")


main(sys.argv[1])
