"""`make fuzz N=1000 SEED=0 ONLY=tiny/Renyi JOBS=2`: a campaign over legitimate problems; see ``tests/fuzz/campaign.py``."""

from tests.fuzz.campaign import main

if __name__ == "__main__":
    raise SystemExit(main())
