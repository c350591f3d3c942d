from gpuyard.hardware.models import MODELS, model_of


def test_a_model_is_found_by_product_name_and_by_label() -> None:
    assert model_of("NVIDIA A30") is model_of("NVIDIA-A30") is not None
    assert model_of("NVIDIA-A31") is None


def test_models_with_mig_have_a_board_and_the_others_none() -> None:
    assert {model.product for model in MODELS if model.board is None} == {"NVIDIA-L40S", "Tesla-T4"}


def test_every_product_is_its_own_label() -> None:
    assert [model_of(model.product) for model in MODELS] == list(MODELS)
