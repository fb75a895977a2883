//! Where the code is: canonical roots, trust, boundary check, ignore rules, the one file walker.
