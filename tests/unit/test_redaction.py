"""Secrets at the door: each pattern with what it takes and what it must leave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taishi.ingest.redaction import redact

JWT = ".".join(
    ("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U")
)
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nabc\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "kind", "secret"),
    [
        ("我的路由器密码是 Qw3r!tyu88，记一下", "password", "Qw3r!tyu88"),
        ("邮箱口令：zx9#Kp2m", "password", "zx9#Kp2m"),
        ("数据库密码改成 Green7Apple$ 了", "password", "Green7Apple$"),
        ("密码为“hello-world-42”", "password", "hello-world-42"),
        ("支付密码是830164", "password", "830164"),
        ("验证码：4821", "password", "4821"),
        ("my password is T1ger&Lily9.", "password", "T1ger&Lily9"),
        ("The wifi password for the office is c4ffeine-now!", "password", "c4ffeine-now!"),
        ("password: s3cr3tValue", "password", "s3cr3tValue"),
        ("PIN is 9042", "password", "9042"),
        ("api_key=abcd1234efgh", "password", "abcd1234efgh"),
        ("use sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2 please", "api_key", "a1B2c3D4e5F6g7H8i9J0k1L2"),
        ("AKIAIOSFODNN7EXAMPLE is the id", "api_key", "AKIAIOSFODNN7EXAMPLE"),
        ("token ghp_0123456789abcdefghijABCDEFGHIJ0123", "token", "0123456789abcdefghij"),
        (f"header {JWT} end", "token", "dozjgNryP4J3jVmNHl0w5N"),
        ("Authorization: Bearer abcdefghij0123456789xyz", "token", "abcdefghij0123456789xyz"),
        (f"key:\n{PEM}\ndone", "private_key", "MIIEowIBAAKCAQEA7"),
        ("postgres://app:hunter22@db.local/x", "password", "hunter22"),
        ("card 4111 1111 1111 1111 exp 12/30", "card", "4111 1111 1111 1111"),
        ("卡号 5500005555555559", "card", "5500005555555559"),
    ],
)
def test_secrets_are_taken_out(text: str, kind: str, secret: str) -> None:
    clean, kinds = redact(text)
    assert secret not in clean
    assert f"[redacted:{kind}]" in clean
    assert kind in kinds


@pytest.mark.parametrize(
    "text",
    [
        "服务器的口令放在保险箱第三层。",
        "我忘了密码",
        "密码是什么？",
        "请定期修改密码，密码要够长。",
        "这个密码是错的",
        "密码学是一门课",
        "The password is wrong.",
        "I forgot my password",
        "my password is not working",
        "the password policy changed last week",
        "Token ring networks are old",
        "the secret is patience",
        "订单号 20260801123456789012",
        "版本 v2.14.3-rc1 已发布",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "电话 13912345678",
        "+44 7700 900123",
        "身份验证码没有收到",
        "port 8443, timeout 30",
        "快递单号 SF1234567890123",
        "4111 1111 1111 1112",
        "uuid 7f1d9f0e-1b1a-4d0c-9a7e-3f7f2f3c8f10",
        "sk-learn 很好用",
        "the key is under the mat",
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert redact(text) == (text, ())


def test_words_around_a_secret_stay() -> None:
    assert (
        redact("我的路由器密码是 Qw3r!tyu88，别说出去。")[0]
        == "我的路由器密码是 [redacted:password]，别说出去。"
    )
    assert (
        redact("My password is T1ger&Lily9. I live in Bonn.")[0]
        == "My password is [redacted:password]. I live in Bonn."
    )


def test_several_kinds_are_named_once_each() -> None:
    clean, kinds = redact(f"密码是 Ab12cd34 和 密码是 Zx98wv76, {JWT}")
    assert kinds == ("password", "token")
    assert clean.count("[redacted:password]") == 2


@given(st.text(alphabet="密码口令是为：: passwordtoken=0123456789abcXYZ!@#[]-_. \n", max_size=120))
def test_it_is_idempotent_and_never_raises(text: str) -> None:
    clean, _ = redact(text)
    assert redact(clean)[0] == clean


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("access_id=demo demo_secret_access_key=Zk9LmQ2vXr7TbN4wPy8s", "Zk9LmQ2vXr7TbN4wPy8s"),
        ("STRIPE_WEBHOOK_SECRET=whsk9d2LkQz", "whsk9d2LkQz"),
        ("export DB_PASSWORD='tuna7fish'", "tuna7fish"),
        ('{"clientSecretValue": "q8Wn3Lp0Zx"}', "q8Wn3Lp0Zx"),
        ("DEPLOY_TOKEN: t0k-88-aaZ", "t0k-88-aaZ"),
        ("SIGNING_KEY => 8f9aQQ12", "8f9aQQ12"),
        ("redis-master-password=R3d!s", "R3d!s"),
        ("adminPassword = Winter#41", "Winter#41"),
        ("BOT_API_TOKEN=77:AAHqz_9", "77:AAHqz_9"),
        ("APP_ENCRYPTION_KEY=base64:Zm9vYmFy1==", "Zm9vYmFy1"),
        ("家裡無線網路密碼是 Tulip#5521", "Tulip#5521"),
        ("登入口令：qz77-Lm", "qz77-Lm"),
        ("驗證碼為 889213", "889213"),
        ("我把密碼改成了 Maple!90", "Maple!90"),
        ("伺服器金鑰是 Kx82-mmQ1", "Kx82-mmQ1"),
        ("授權碼換成 7Q-3310", "7Q-3310"),
    ],
)
def test_names_of_settings_and_traditional_words_are_seen(text: str, secret: str) -> None:
    clean, found = redact(text)
    assert secret not in clean
    assert found
    assert redact(clean)[0] == clean


@pytest.mark.parametrize(
    "text",
    [
        "primary_key=order_id_7",
        "max_tokens=4096",
        "password_min_length: 12",
        "cache_key=user:1201",
        "token_count=88712",
        "sort_key = created_at2",
        "SECRET_NAME=prod/db-1",
        "api_key_id: 4471",
        "access_token_ttl=3600s",
        "我忘記密碼了，怎麼辦？",
        "驗證碼收不到",
        "口令太短，請改長一點",
        "keyboard_layout=us-101",
    ],
)
def test_what_is_said_about_a_secret_stays(text: str) -> None:
    assert redact(text) == (text, ())
