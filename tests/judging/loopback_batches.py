"""The batch interface beside the loopback server's chat: files, batches, results."""

import json
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from tests.judging.loopback_llm import Call, ScriptedLlm


@dataclass
class BatchDesk:
    """Answers the requests of a batch by the server's script once it has been asked often enough.

    Attributes
    ----------
    server
        Whose script and counts are used.
    questions
        Questions for the state of a batch until it has ended.
    ends_as
        The status in the end; ``expired`` answers only the first half.
    lost_answers
        Names of calls whose work is done but whose answer is lost, once each.
    """

    server: ScriptedLlm
    questions: int = 2
    ends_as: str = "completed"
    lost_answers: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)

    def add_to(self, app: FastAPI) -> None:
        app.post("/v1/files")(self.upload)
        app.get("/v1/files/{file_id}/content")(self.content)
        app.post("/v1/batches")(self.create)
        app.get("/v1/batches")(self.listed)
        app.get("/v1/batches/{batch_id}")(self.state)

    async def upload(self, request: Request) -> dict[str, Any]:
        form = await request.form()
        file_id = self._keep(await form["file"].read())  # type: ignore[union-attr]
        self._lose("upload")
        return {"id": file_id, "object": "file", "purpose": form["purpose"], "bytes": 1}

    async def create(self, request: Request) -> dict[str, Any]:
        asked = await request.json()
        batch_id = f"batch_{len(self.batches)}"
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        self.batches[batch_id] = {
            **asked,
            "id": batch_id,
            "object": "batch",
            "status": "in_progress",
            "created_at": 1_700_000_000,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }
        self._lose("create")
        return self.batches[batch_id]

    def listed(self) -> dict[str, Any]:
        return {"object": "list", "data": list(self.batches.values()), "has_more": False}

    def state(self, batch_id: str) -> dict[str, Any]:
        if batch_id not in self.batches:
            raise HTTPException(404)
        self._lose("state")
        self.asked[batch_id] = self.asked.get(batch_id, 0) + 1
        batch = self.batches[batch_id]
        if self.asked[batch_id] == self.questions:
            self._end(batch)
        return batch

    def content(self, file_id: str) -> Response:
        self._lose("content")
        if file_id not in self.files:
            raise HTTPException(404)
        return Response(self.files[file_id], media_type="application/jsonl")

    def _end(self, batch: dict[str, Any]) -> None:
        batch |= {"status": self.ends_as, f"{self.ends_as}_at": 1_700_003_600}
        if self.ends_as == "failed":
            batch["errors"] = {"object": "list", "data": [{"code": "token_limit_exceeded"}]}
            return
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        answered = lines if self.ends_as == "completed" else lines[: len(lines) // 2]
        results = [self._result(line) for line in reversed(answered)]  # in any order
        results += [
            {
                "custom_id": line["custom_id"],
                "response": None,
                "error": {"code": "batch_expired", "message": "not run"},
            }
            for line in lines[len(answered) :]
        ]
        good = [one for one in results if (one["response"] or {}).get("status_code") == 200]
        bad = [one for one in results if one not in good]
        for name, some in (("output_file_id", good), ("error_file_id", bad)):
            if some:
                written = [json.dumps(one, ensure_ascii=False) for one in some]
                batch[name] = self._keep("\n".join(written).encode())

    def _result(self, line: dict[str, Any]) -> dict[str, Any]:
        call = Call(self.server.counts.calls, 0, line["body"], {})
        self.server.counts.calls += 1
        self.server.calls.append(call)
        answer = self.server.script(call)
        response = {"status_code": answer.status, "body": json.loads(answer.encoded(call))}
        return {"custom_id": line["custom_id"], "response": response, "error": None}

    def _keep(self, content: bytes) -> str:
        file_id = f"file_{len(self.files)}"
        self.files[file_id] = content
        return file_id

    def _lose(self, name: str) -> None:
        if name in self.lost_answers:
            self.lost_answers.remove(name)
            raise HTTPException(503)
