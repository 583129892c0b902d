"""Which files hold words, and when what was forgotten is gone from all of them."""

from __future__ import annotations

from pathlib import Path

from taishi.deploy.kept_files import Folders, KeptFiles, drop_vectors
from taishi.ingest.envelope import Position
from taishi.projections.analysis import Analyzer
from taishi.projections.store import ReadModelFile
from taishi.projections.vectors import VectorStore
from taishi.projections.worker import model_path
from tests.support.history import History


def test_a_forget_is_over_once_it_is_over_in_every_generation_and_vector_file(tmp_path: Path) -> None:
    h = History()
    claim = h.claim("user", "likes", "figs")
    gone = h.forget(claim)
    live, kept, built = (tmp_path / name for name in ("g1", "g2", "g3"))
    resting: list[Path] = []
    files = KeptFiles(lambda: Folders(following=[live, kept], resting=resting), tmp_path / "vectors")
    assert files.are_scrubbed(gone.position), "no file holds anything yet"
    models = [ReadModelFile(model_path(folder, 0), Analyzer()) for folder in (live, kept)]
    models[0].apply(h.events)
    models[1].apply(h.events[:1])
    assert models[0].scrub() and not files.are_scrubbed(gone.position)
    assert files.left(0, [claim.position.seq], []) == 2, "its row and its index entry, in the one that is behind"
    models[1].apply(h.events[1:])
    assert not files.are_scrubbed(gone.position)
    assert models[1].scrub() and files.are_scrubbed(gone.position)
    assert files.left(0, [claim.position.seq], []) == 0
    store = VectorStore(tmp_path / "vectors" / "vectors-p0.m.db", model="m", dimension=4)
    assert not files.are_scrubbed(gone.position)
    store.forget([], after=0, upto=gone.position.seq)
    assert store.scrub() and files.are_scrubbed(gone.position)
    assert not files.resting(0)
    ReadModelFile(model_path(built, 0), Analyzer()).close()
    resting.append(built)
    assert files.resting(0) and not files.resting(1)
    assert files.are_scrubbed(Position(1, 99)), "another partition has no files"
    for one in (*models, store):
        one.close()


def test_vectors_are_dropped_where_nobody_embeds(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    VectorStore(folder / "vectors-p0.m.db", model="m", dimension=4).close()
    (folder / "other").touch()
    drop_vectors(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["other"]
